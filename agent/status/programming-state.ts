/** How far something is programmed, as people are told. */
import type { ProgrammingState } from '../../api/agent-status.ts';
import type { State, Status } from '../../base/reconciler.ts';

export const stateOf = ({ kind, message }: Status): { state: ProgrammingState; message?: string } => ({
  state: STATES[kind],
  ...(message !== undefined && { message }),
});

const STATES: Readonly<Record<State, ProgrammingState>> = {
  done: 'ready',
  unsupported: 'ready',
  pending: 'pending',
  waiting: 'pending',
  failed: 'error',
};
