/** Whether pods can be attached to the network: there is a CNI configuration, and its plugins say that they work. */
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, delay, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { type ConfState, loadNetworkConf, type NetworkConf } from './cni/conf.ts';
import type { Cni } from './cni/invoke.ts';

export interface NetworkState {
  /** Undefined while pods can't be attached. */
  readonly conf: NetworkConf | undefined;
  /** Why, for people. */
  readonly reason: string;
  /** True when CNI STATUS succeeded. */
  readonly isReady: boolean;
}

export interface NetworkReadiness {
  current(): NetworkState;
  /** Looks now. */
  check(): Promise<NetworkState>;
  onChange(handler: (state: NetworkState) => void): void;
  /** Until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface NetworkReadinessOptions {
  readonly folder: string;
  readonly cni: Pick<Cni, 'status'>;
  readonly clock?: Clock;
}

/** As a container runtime is asked by its kubelet; sooner while the answer is no. */
const READY_PERIOD_MS = 5_000;
const UNREADY_PERIOD_MS = 250;

export const createNetworkReadiness = ({
  folder,
  cni,
  clock = systemClock,
}: NetworkReadinessOptions): NetworkReadiness => {
  const handlers: ((state: NetworkState) => void)[] = [];
  let state: NetworkState = { conf: undefined, reason: 'not looked at yet', isReady: false };
  const check = async (): Promise<NetworkState> => {
    const next = await networkState(await loadNetworkConf(folder), cni);
    if (isDeepStrictEqual(next, state)) return state;
    state = next;
    for (const handler of handlers) handler(state);
    return state;
  };
  return {
    check,
    current: () => state,
    onChange: (handler) => void handlers.push(handler),
    run: async (signal) => {
      await mkdir(folder, { recursive: true });
      let wake = new AbortController();
      const watcher = watch(folder, () => wake.abort());
      signal.addEventListener('abort', () => wake.abort(), { once: true });
      while (!signal.aborted) {
        wake = new AbortController();
        await check();
        if (signal.aborted) break;
        await delay(clock, state.isReady ? READY_PERIOD_MS : UNREADY_PERIOD_MS, wake.signal).catch(() => {});
      }
      watcher.close();
    },
  };
};

const networkState = async (loaded: ConfState, cni: Pick<Cni, 'status'>): Promise<NetworkState> => {
  if (loaded.conf === undefined) return { conf: undefined, reason: loaded.reason, isReady: false };
  try {
    await cni.status(loaded.conf);
    return { conf: loaded.conf, reason: '', isReady: true };
  } catch (error) {
    return { conf: loaded.conf, reason: `CNI STATUS: ${messageOf(error)}`, isReady: false };
  }
};
