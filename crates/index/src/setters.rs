//! Methods that set the fields of options.

/// Adds one method per field to a struct. Each method sets its field and returns the struct.
///
/// Structs of options are `#[non_exhaustive]`, so that a new option breaks no program. Programs cannot write
/// literals of such a struct; they start from its default and chain these methods. Methods after the first
/// semicolon take any type that converts into the field, so that an optional value needs no `Some`. Methods
/// after the second semicolon take a text of any type, and methods after the third semicolon take texts from
/// any iterator.
///
/// Each entry of the list repeats the documentation of its field, so that readers of a method need not look
/// for the field. `cargo x lint` compares both texts.
macro_rules! setters {
    ($type:ident {
        $($(#[$plain_doc:meta])* $plain:ident: $plain_type:ty,)*
        ;
        $($(#[$field_doc:meta])* $field:ident: $type_of_field:ty,)*
        $(;
        $($(#[$text_doc:meta])* $text:ident: Option<String>,)*
        ;
        $($(#[$list_doc:meta])* $list:ident: Vec<String>,)*)?
    }) => {
        impl $type {
            $(
                #[doc = concat!("Sets `", stringify!($plain), "`.")]
                $(#[$plain_doc])*
                #[must_use]
                pub fn $plain(mut self, $plain: $plain_type) -> Self {
                    self.$plain = $plain;
                    self
                }
            )*
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                $(#[$field_doc])*
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$type_of_field>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
            $($(
                #[doc = concat!("Sets `", stringify!($text), "`.")]
                $(#[$text_doc])*
                #[must_use]
                pub fn $text(mut self, $text: impl Into<String>) -> Self {
                    self.$text = Some($text.into());
                    self
                }
            )*
            $(
                #[doc = concat!("Sets `", stringify!($list), "`.")]
                $(#[$list_doc])*
                #[must_use]
                pub fn $list(mut self, $list: impl IntoIterator<Item: Into<String>>) -> Self {
                    self.$list = $list.into_iter().map(Into::into).collect();
                    self
                }
            )*)?
        }
    };
}

pub(crate) use setters;
