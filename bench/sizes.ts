/** How much of everything is made. */
export interface Sizes {
  readonly small: number;
  readonly medium: number;
  readonly large: number;
  readonly huge: number;
  readonly deep: { readonly chains: number; readonly levels: number };
  readonly bigBytes: number;
  readonly sparseBytes: number;
  readonly historySnapshots: number;
  readonly manySnapshots: number;
  readonly growth: readonly number[];
}

export const fullSizes: Sizes = {
  small: 500,
  medium: 5_000,
  large: 150_000,
  huge: 1_000_000,
  deep: { chains: 10, levels: 300 },
  bigBytes: 5 * 2 ** 30,
  sparseBytes: 100 * 2 ** 30,
  historySnapshots: 1_000,
  manySnapshots: 10_000,
  growth: [1_000, 10_000, 100_000, 1_000_000],
};

export const quickSizes: Sizes = {
  small: 20,
  medium: 40,
  large: 120,
  huge: 150,
  deep: { chains: 2, levels: 10 },
  bigBytes: 3 * 2 ** 20,
  sparseBytes: 2 ** 26,
  historySnapshots: 6,
  manySnapshots: 15,
  growth: [20, 100],
};
