/** What keeps a node's tunnels from being encrypted, as its files and Open vSwitch say at the moment. */
import { readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../../base/clock.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import type { TunnelEncryption } from '../model/view.ts';
import { chassisIdOf } from '../node/switch-facts.ts';
import type { IsolationState } from '../reconcile/isolation-state.ts';
import { certificateProblem, type EncryptionFiles } from './certificate.ts';

export interface EncryptionSources {
  /** Undefined: tunnels are not to be encrypted. */
  readonly encryption: TunnelEncryption | undefined;
  readonly replica: VswitchReplica;
  readonly isolation: Pick<IsolationState, 'lackingOfTunnels'>;
}

export interface EncryptionState {
  /** Messages without an end; empty: they are, or are not to be. */
  problems(): string[];
  /** For who waits until there are none. @returns what ends it */
  listen(look: () => void): () => void;
}

/**
 * Three small files are read each time: whoever renews a certificate replaces them, in folders that may not be there yet,
 * and whether they are valid changes with the time of day. So there is no event to wait for, and the caller looks again.
 */
export const encryptionState = (sources: EncryptionSources, clock: Clock = systemClock): EncryptionState => {
  const { encryption } = sources;
  if (encryption === undefined) return { problems: () => [], listen: () => () => undefined };
  return {
    problems: () => problemsOf(encryption, sources, clock.wall()).map((why) => `tunnels cannot be encrypted: ${why}`),
    listen: (look) => repeat(look, clock),
  };
};

const problemsOf = (
  encryption: TunnelEncryption,
  { replica, isolation }: EncryptionSources,
  now: number,
): readonly string[] => {
  const isUserspace = replica.findOne('Bridge', 'name', INTEGRATION_BRIDGE)?.datapath_type === 'netdev';
  const chassisId = chassisIdOf(replica);
  return [
    isUserspace ? `${INTEGRATION_BRIDGE} has the userspace datapath, which does not support IPsec` : undefined,
    certificateProblem({ paths: encryption, files: readFiles(encryption), chassisId, now }),
    isolation.lackingOfTunnels(),
  ].filter((problem) => problem !== undefined);
};

const readFiles = ({ certificate, privateKey, authority }: TunnelEncryption): EncryptionFiles => ({
  certificate: readText(certificate),
  privateKey: readText(privateKey),
  authority: readText(authority),
});

const readText = (path: string): EncryptionFiles[keyof EncryptionFiles] => {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
};

const repeat = (look: () => void, clock: Clock): (() => void) => {
  let cancel = (): void => undefined;
  const later = (): void => {
    cancel = clock.schedule(AGAIN_MS, () => {
      look();
      later();
    });
  };
  later();
  return () => cancel();
};

const AGAIN_MS = 2_000;
