// Types of the server's answers, which ../API.md describes.

/** @typedef {{ page: number } | { slide: number } | { chapter: number } | { paragraph: number }} Place */
/** @typedef {{ offset: number, place: Place }} Mark */
/** @typedef {Record<string, unknown>} Metadata */
/** @typedef {[start: number, end: number]} Range */

/**
 * @typedef {object} Listed A document in a list.
 * @property {string} id
 * @property {string | null} title
 * @property {Metadata} metadata
 * @property {number} characters
 * @property {number} shingles
 * @property {string} added
 */
/** @typedef {Listed & { text: string | null, marks: Mark[] }} Whole */
/** @typedef {{ documents: Listed[], next: string | null }} Listing */

/**
 * @typedef {object} Match A document of the archive that shares text with the checked text.
 * @property {string} id
 * @property {string | null} title
 * @property {Metadata} metadata
 * @property {{ similarity: boolean, containment: boolean, passage: boolean }} reasons
 * @property {number} similarity
 * @property {number} containment_of_query
 * @property {number} containment_of_document
 * @property {number | null} weighted
 * @property {number} longest_passage
 * @property {number} shared_tokens
 * @property {{ query: Range, document: Range | null, tokens: number, moved: boolean }[]} passages the longest passages
 * @property {number} further_passages number of passages that are not in the list
 */
/** @typedef {{ id: string | null, title: string | null, characters: number, tokens: number, shingles: number, text: string | null, marks: Mark[] }} Query */
/**
 * @typedef {object} Answer The answer of a check.
 * @property {Query} query
 * @property {Match[]} matches the best matches
 * @property {number} further number of matches that are not in the list
 * @property {number} compared number of candidates that were compared exactly
 * @property {number} not_compared number of candidates beyond the limit
 * @property {number} passed_over
 * @property {number} recall_at_threshold
 * @property {string | null} no_passages reason why passages have no places in their documents
 * @property {number} elapsed_ms
 * @property {string} spec
 */
/**
 * @typedef {object} Options The options of a check.
 * @property {string} [title]
 * @property {number} [threshold]
 * @property {number} [containment]
 * @property {number} [top]
 * @property {string[]} [exclude]
 * @property {Metadata} [metadata]
 * @property {number} [max_df]
 * @property {string[]} [ignore_text]
 * @property {boolean} [ignore_quotations]
 * @property {boolean} [ignore_references]
 * @property {string} [since]
 * @property {string} [until] inclusive, like `since`
 */

/** @typedef {{ id: string | null, title: string | null, text: string | null, marks: Mark[], metadata: Metadata }} Side */
/** @typedef {{ left: Range, right: Range, tokens: number, moved: boolean }} Passage */
/**
 * @typedef {object} Pair
 * @property {Side} left
 * @property {Side} right
 * @property {number} similarity
 * @property {number} containment_of_left
 * @property {number} containment_of_right
 * @property {Passage[]} passages
 * @property {number} [further_passages] number of passages that are not in the list, because they could not be loaded
 * @property {string} spec
 */

/** @typedef {{ from: number, to: number, documents: number }} Bucket */
/**
 * @typedef {object} Stats
 * @property {number} documents
 * @property {number} text_bytes
 * @property {number} disk_bytes
 * @property {string} spec
 * @property {number} passage
 * @property {number} bands
 * @property {number} rows
 * @property {boolean} text_kept
 * @property {number} sequence
 * @property {string} version
 * @property {{ buckets: Bucket[], documents_sampled: number } | null} similarities
 * @property {{ month: string, documents: number }[]} [added_by_month]
 */

/** @typedef {{ id: string, title: string | null, similarity: number }} Member */
/** @typedef {{ size: number, keeper: string, members: Member[] }} Cluster */
/**
 * @typedef {object} Clusters
 * @property {Cluster[]} clusters
 * @property {number} further
 * @property {number} documents
 * @property {number} threshold
 * @property {number} recall_at_threshold
 * @property {number} left_out
 */
/** @typedef {{ code: string, title: string, detail?: string | null, hint?: string | null, status: number }} ProblemBody */
/**
 * @template Result
 * @typedef {object} Job
 * @property {string} id
 * @property {string} kind
 * @property {'queued' | 'running' | 'done' | 'failed'} state
 * @property {string | null} stage
 * @property {'bytes' | 'steps' | null} unit
 * @property {number} done
 * @property {number} total
 * @property {Result | null} result
 * @property {ProblemBody | null} error
 */

export {};
