/**
 * NADs that were written for the first time, or may have been, and that the mirror has not shown yet. Their networks have
 * their ids from the beginning: nobody else gets these before it is known that the NAD is not there.
 */
import type { NetConf } from '../../api/net-conf.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { MultiMap } from '../../base/multi-map.ts';
import { isNotFound } from '../../kube/errors.ts';
import { refOf } from '../../kube/object-key.ts';
import type { Touched } from '../state/cluster-state.ts';
import type { ControllerContext } from './types.ts';
import type { Unanswered } from './unanswered.ts';

export interface NadCreations {
  /** The NAD of a network is about to be written. @returns its ids, when it can have some before it is there */
  begin(nadKey: string, networkKey: string, conf: NetConf): NetworkKeys | undefined;
  /** It was written. @param text what it says */
  written(nadKey: string, text: string): void;
  /** It was written like this a moment ago: the mirror is about to show it. */
  isOnItsWay(nadKey: string, text: string): boolean;
  /** NADs of a network that were written, or may have been, and were not seen yet. */
  unseen(networkKey: string): readonly string[];
  /** The mirror has it, or does not have it any more. */
  seen(nadKey: string): void;
  /**
   * Asks the server for one that is not desired, or could not be written; when it is not there, its network gives its ids
   * back.
   * @returns undefined: it is settled. `there`: the mirror is about to show it. Or how long it may still come, in ms
   */
  settle(nadKey: string, signal: AbortSignal): Promise<'there' | number | undefined>;
}

interface Creation {
  readonly networkKey: string;
  /** Once it was written. */
  readonly written?: { readonly text: string; readonly at: number };
}

export interface NadCreationsContext extends Pick<ControllerContext, 'client' | 'state' | 'clock'> {
  readonly unanswered: Unanswered;
  readonly touch: (touched: Touched) => void;
}

export const createNadCreations = ({ client, state, clock, unanswered, touch }: NadCreationsContext): NadCreations => {
  /** Nearly always empty, and full where thousands of networks come at once. */
  const creations = new Map<string, Creation>();
  const byNetwork = new MultiMap<string>();
  const forget = (nadKey: string): void => {
    byNetwork.delete(creations.get(nadKey)?.networkKey ?? '', nadKey);
    creations.delete(nadKey);
  };

  const isThere = async (nadKey: string, signal: AbortSignal): Promise<boolean> => {
    try {
      await client.get(NETWORK_ATTACHMENT_DEFINITIONS, refOf(nadKey), signal);
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return false;
    }
  };
  return {
    begin: (nadKey, networkKey, conf) => {
      forget(nadKey);
      creations.set(nadKey, { networkKey });
      byNetwork.add(networkKey, nadKey);
      return state.registry.reserve(nadKey, conf);
    },
    written: (nadKey, text) => {
      const creation = creations.get(nadKey);
      // The mirror may have been faster than the answer.
      if (creation !== undefined) creations.set(nadKey, { ...creation, written: { text, at: clock.monotonic() } });
    },
    isOnItsWay: (nadKey, text) => {
      const { written } = creations.get(nadKey) ?? {};
      return written?.text === text && clock.monotonic() - written.at < LONGEST_WAY_MS;
    },
    unseen: (networkKey) => [...byNetwork.get(networkKey)],
    seen: forget,
    settle: async (nadKey, signal) => {
      if (await isThere(nadKey, signal)) return 'there';
      const waitMs = unanswered.mayComeMs(NETWORK_ATTACHMENT_DEFINITIONS, refOf(nadKey));
      if (waitMs > 0) return waitMs;
      const wasThere = creations.get(nadKey)?.written !== undefined;
      forget(nadKey);
      touch(state.settleNad(nadKey, wasThere));
      return undefined;
    },
  };
};

/** One that somebody has taken away before it was seen is written again after this, at the network's next turn. */
const LONGEST_WAY_MS = 60_000;
