import type { Trigger } from '../index.js';

// Spelled out here, since help must not load the library; the type keeps it complete.
const triggerNames: { readonly [Name in Trigger]: Name } = {
  manual: 'manual',
  run_start: 'run_start',
  pre_write: 'pre_write',
  post_step: 'post_step',
  emergency: 'emergency',
};

export const triggerList: readonly Trigger[] = Object.values(triggerNames);
