/**
 * What follows from that a pod came, changed, went, or is elsewhere now. Each table is told, though another one fails. One that failed is
 * told again when a later event comes, one pod at a time: a pod that always fails must not make each event dear.
 */
import type { AdminTable } from './admin/admin-table.ts';
import { inTurn } from './in-turn.ts';
import type { PeerTable } from './peer-table.ts';
import type { PodState, TargetGroup } from './state.ts';
import type { TargetTable } from './target-table.ts';
import type { PolicyPod } from './types.ts';

interface PodMovesOptions {
  readonly targets: Pick<TargetTable, 'move'>;
  readonly peers: Pick<PeerTable, 'move' | 'forget'>;
  readonly admin: Pick<AdminTable, 'movePod'>;
  readonly groupsOf: (state: PodState, pod: PolicyPod | undefined) => readonly TargetGroup[];
}

export class PodMoves {
  readonly #options: PodMovesOptions;
  /** With the pod as peers had counted it last. */
  readonly #failed = new Map<PodState, PolicyPod | undefined>();

  constructor(options: PodMovesOptions) {
    this.#options = options;
  }

  /** It throws what the first table threw, after all were told. @param before undefined: it was not there */
  move(state: PodState, before: PolicyPod | undefined, after: PolicyPod | undefined): void {
    const { targets, peers, admin, groupsOf } = this.#options;
    let counted = this.#failed.has(state) ? this.#failed.get(state) : before;
    this.#failed.delete(state);
    try {
      inTurn([
        () => targets.move(state, groupsOf(state, after)),
        () => {
          peers.move(state, counted, after);
          counted = after;
        },
        () => admin.movePod(state, after !== undefined),
      ]);
    } catch (error) {
      // An address that is gone may be another pod's next.
      if (after === undefined) peers.forget(state, counted);
      this.#failed.set(state, after && counted);
      throw error;
    }
  }

  /** One that is gone opens nothing: where it fails again it waits for its turn. */
  end(state: PodState): void {
    try {
      this.move(state, undefined, undefined);
    } catch {}
  }

  /** Something else failed of this pod: it is to be told again. */
  fail(state: PodState): void {
    if (!this.#failed.has(state)) this.#failed.set(state, state.pod);
  }

  /** The one that has waited longest. */
  get failed(): PodState | undefined {
    return this.#failed.keys().next().value;
  }
}
