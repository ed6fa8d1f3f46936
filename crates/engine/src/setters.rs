//! The `setters!` macro, which defines methods that set the fields of options.

/// Defines one method per field of a struct. The method sets the field and returns the struct.
///
/// Structs of options are `#[non_exhaustive]`, so that a new option breaks no program. Programs therefore cannot write
/// literals of such a struct; they start from its default and chain these methods. Methods after the semicolon take any
/// type that converts into the type of the field, so that an optional value needs no `Some`.
///
/// Each field in the list repeats the documentation of the struct's field, so that readers of the method need not look
/// for the field. `cargo x lint` compares the two copies.
macro_rules! setters {
    ($type:ident {
        $($(#[$plain_doc:meta])* $plain:ident: $plain_type:ty,)*
        ;
        $($(#[$field_doc:meta])* $field:ident: $type_of_field:ty,)*
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
        }
    };
}

pub(crate) use setters;
