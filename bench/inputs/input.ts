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
