import type { Mutant } from './mutant.js';
import { mutantsOfApplying } from './of-applying.js';
import { mutantsOfCaptures } from './of-captures.js';
import { mutantsOfFiles } from './of-files.js';
import { mutantsOfIsolation } from './of-isolation.js';
import { mutantsOfMending } from './of-mending.js';
import { mutantsOfPlans } from './of-plans.js';
import { mutantsOfRemotes } from './of-remotes.js';
import { mutantsOfRestores } from './of-restores.js';
import { mutantsOfState } from './of-state.js';
import { mutantsOfTheStore } from './of-the-store.js';

export const mutants: readonly Mutant[] = [
  ...mutantsOfTheStore,
  ...mutantsOfFiles,
  ...mutantsOfCaptures,
  ...mutantsOfPlans,
  ...mutantsOfRestores,
  ...mutantsOfApplying,
  ...mutantsOfIsolation,
  ...mutantsOfState,
  ...mutantsOfRemotes,
  ...mutantsOfMending,
];
