/** What to make, and where. The same recipe makes the same. */
export type Recipe = {
  readonly name: string;
  readonly folder: string;
  readonly seed: number;
} & (
  | { readonly kind: 'code'; readonly files: number }
  | { readonly kind: 'small files'; readonly files: number }
  | { readonly kind: 'deep'; readonly chains: number; readonly levels: number }
  | { readonly kind: 'big file'; readonly bytes: number }
  /** The folder is a data directory with one snapshot, to which others are added. */
  | { readonly kind: 'snapshots'; readonly total: number }
);

/** A folder that was made to be saved. */
export interface Input {
  readonly name: string;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  readonly distinctContents: number;
  /** Paths of text files, spread over the folder, that the rows change. */
  readonly changeable: readonly string[];
}
