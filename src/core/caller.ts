/*
 * Who runs the program, as far as the kernel asks for it where a file is given another owner.
 */

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface Caller extends Owner {
  readonly groups: ReadonlySet<number>;
  /** May give away what belongs to anybody (CAP_CHOWN). */
  readonly mayGiveAway: boolean;
  /** Ids that exist where the caller runs: in a user namespace, not all do. */
  readonly hasUid: (uid: number) => boolean;
  readonly hasGid: (gid: number) => boolean;
}

/** Whether the kernel lets the caller give what belongs to `present` the owner and the group of `wanted`. */
export function maySetOwner(caller: Caller, present: Owner, wanted: Owner): boolean {
  const exists = ({ uid, gid }: Owner): boolean => caller.hasUid(uid) && caller.hasGid(gid);
  if (caller.mayGiveAway) return exists(present) && exists(wanted);
  if (present.uid !== caller.uid || wanted.uid !== caller.uid) return false;
  return wanted.gid === present.gid || (caller.groups.has(wanted.gid) && caller.hasGid(wanted.gid));
}
