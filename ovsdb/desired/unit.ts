/** The smallest things that can differ from the desired state, and be put right, each by itself. */
import type { ElementId, TargetId } from './identity.ts';

/** A row of ours in a table, desired or not: its columns other than members. */
export interface RowUnit {
  readonly kind: 'row';
  readonly table: string;
  readonly key: string;
}
/** One element of a set column, desired or not. */
export interface MemberUnit {
  readonly kind: 'member';
  readonly table: string;
  readonly target: TargetId;
  readonly column: string;
  readonly element: ElementId;
}
/** Everything that is patched in one row. */
export interface PatchUnit {
  readonly kind: 'patch';
  readonly table: string;
  readonly target: TargetId;
}

export type Unit = RowUnit | MemberUnit | PatchUnit;

export const unitId = (unit: Unit): string => {
  switch (unit.kind) {
    case 'row':
      return `row\n${unit.table}\n${unit.key}`;
    case 'member':
      return `member\n${unit.table}\n${unit.target}\n${unit.column}\n${unit.element}`;
    case 'patch':
      return `patch\n${unit.target}`;
  }
};
