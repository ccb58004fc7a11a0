/** Entry of the worker thread, the only one that talks to the kernel. */
import { parentPort, workerData } from 'node:worker_threads';
import { collectGarbage } from '../../../base/collect-garbage.ts';
import { loadAddon } from '../kernel/addon.ts';
import { LinuxKernel } from '../kernel/linux.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { FromWorker, ToWorker, WorkerOptions } from './protocol.ts';
import { type NetlinkService, netlinkService } from './service.ts';
import { toWireError } from './wire-error.ts';

const { addonPath, ownNetns }: WorkerOptions = workerData;
let running: { readonly kernel: LinuxKernel; readonly service: NetlinkService } | undefined;
let monitor: Monitor | undefined;
let underWay = 0;
let closing = false;

/** On the first call, so that what goes wrong is an answer to somebody. */
const started = (): NonNullable<typeof running> => {
  if (running === undefined) {
    const kernel = new LinuxKernel(loadAddon(addonPath), { ownNetns });
    running = { kernel, service: netlinkService(kernel) };
  }
  return running;
};

const answer = async ({ id, method, args }: Extract<ToWorker, { kind: 'call' }>): Promise<void> => {
  underWay++;
  try {
    const { service } = started();
    if (method === 'ensurePod') ensure(service, id, args);
    else post({ id, value: await call(service, method, args) });
  } catch (error) {
    post({ id, error: toWireError(error) });
  }
  underWay--;
  closeWhenIdle();
};

/** A pod's ADD waits for it, and for nothing that happens meanwhile: its answer comes before events. */
const ensure = (service: NetlinkService, id: number, args: readonly unknown[]): void => {
  // A function does not go from thread to thread.
  const reports = [() => post({ id, linked: true }), (value: unknown) => post({ id, value })];
  try {
    Reflect.apply(service.ensurePod, undefined, [...args, ...reports]);
  } finally {
    monitor?.drain();
  }
};

const call = async (
  service: NetlinkService,
  method: keyof NetlinkService,
  args: readonly unknown[],
): Promise<unknown> => {
  // Events before the start of a reading must not be delivered after it.
  monitor?.drain();
  const result: unknown = Reflect.apply(service[method], undefined, args);
  // Not awaited unless it is a promise: calls of other methods are done when the next message is read.
  const value = result instanceof Promise ? await result : result;
  // Events during a reading are delivered after it, for the reading may have missed them.
  if (method !== 'read') monitor?.drain();
  return value;
};

const collect = async (id: number): Promise<void> => {
  underWay++;
  try {
    await collectGarbage();
    post({ id, value: undefined });
  } catch (error) {
    post({ id, error: toWireError(error) });
  }
  underWay--;
  closeWhenIdle();
};

const post = (message: FromWorker): void => parentPort?.postMessage(message);

const closeWhenIdle = (): void => {
  if (!closing || underWay > 0) return;
  monitor?.[Symbol.dispose]();
  monitor = undefined;
  running?.kernel[Symbol.dispose]();
  parentPort?.close();
};

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'call') {
    void answer(message);
  } else if (message.kind === 'collect') {
    void collect(message.id);
  } else if (message.kind === 'watch') {
    monitor ??= started().kernel.watch((events) => post({ events }));
  } else {
    closing = true;
    closeWhenIdle();
  }
});
