import type { DesiredFragment } from '../../../../ovsdb/desired/types.ts';

/** Everything that the parts want. */
export const merge = <DB>(...parts: readonly DesiredFragment<DB>[]): DesiredFragment<DB> => ({
  rows: parts.flatMap(({ rows = [] }) => rows),
  members: parts.flatMap(({ members = [] }) => members),
  patches: parts.flatMap(({ patches = [] }) => patches),
});
