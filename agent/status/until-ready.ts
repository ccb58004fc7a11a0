/** Waits until pods can be added, by event. */
import type { Databases } from '../databases/databases.ts';
import type { EncryptionState } from '../encryption/encryption.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { Readiness } from './readiness.ts';

export interface UntilReadyOptions {
  readonly readiness: Pick<Readiness, 'whenReady'>;
  readonly facts: Pick<FactStore, 'listen'>;
  readonly replica: Pick<Databases['openvswitch']['replica'], 'onUpdate' | 'onSynced'>;
  /** Isolation of the node is looked at there. */
  readonly nftables: { onLook(look: () => void): () => void };
  readonly encryption: Pick<EncryptionState, 'listen'>;
}

/** @throws the signal's reason */
export const untilReady = (
  { readiness, facts, replica, nftables, encryption }: UntilReadyOptions,
  signal: AbortSignal,
): Promise<void> =>
  readiness.whenReady(
    [
      (look) => facts.listen(look),
      (look) => replica.onUpdate(look),
      (look) => replica.onSynced(look),
      (look) => nftables.onLook(look),
      (look) => encryption.listen(look),
    ],
    signal,
  );
