/** When a real API server can be used. */
import { setTimeout as sleep } from 'node:timers/promises';
import { abortable } from '../../../base/abort.ts';
import type { ClusterConnection } from '../../../kube/config/types.ts';
import { createReflector } from '../../../kube/reflector/reflector.ts';
import { SERVICE_ACCOUNTS } from '../../../kube/resources.ts';
import { createHttpTransport } from '../../../kube/transport/http-transport.ts';
import type { KubeClient } from '../../../kube/types.ts';

/**
 * Nothing announces that it listens, or that its start hooks are done. Where to ask takes long, as in an emulated guest, the server that
 * starts needs the same processors: it has four times as much.
 */
const pauseAfter = (tookMs: number): number => Math.min(Math.max(4 * tookMs, 25), 1_000);

/**
 * Resolves when `/readyz` answers 200: roles are there, and etcd can be written.
 * @throws the signal's reason
 */
export const untilReady = async (connection: ClusterConnection, signal: AbortSignal): Promise<void> => {
  const transport = createHttpTransport({ connection, timeoutMs: 5_000 });
  const isReady = async (): Promise<boolean> => {
    const { status, body } = await transport.send({ method: 'GET', path: '/readyz', headers: {} }, signal);
    for await (const _ of body);
    return status === 200;
  };
  try {
    for (;;) {
      const start = performance.now();
      if (await isReady().catch(() => false)) return;
      await sleep(pauseAfter(performance.now() - start), undefined, { signal });
    }
  } finally {
    signal.throwIfAborted();
    transport.close();
  }
};

/** Resolves when pods are let into the namespace: that takes its account, which the controller manager makes. */
export const untilAccount = async (client: KubeClient, namespace: string, signal: AbortSignal): Promise<void> => {
  const stop = new AbortController();
  const accounts = createReflector({
    ...{ client, resource: SERVICE_ACCOUNTS, namespace, fieldSelector: 'metadata.name=default' },
    project: ({ metadata }) => metadata.name,
  });
  await abortable<void>(signal, (resolve) => {
    accounts.subscribe(({ after }) => after !== undefined && resolve());
    void accounts.run(stop.signal);
    return () => stop.abort();
  });
};
