/** Readiness, liveness and startup probes. They come from this process, whose cgroup nftables rules know as kubelet's. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { messageOf } from '../../base/error-message.ts';
import { commandRunner } from '../process/runner.ts';
import { probeGrpc } from './grpc-probe.ts';
import { type PodContainer, type Probe, probePort } from './pod-spec.ts';

export interface ProbeTarget {
  readonly container: PodContainer;
  /** The pod's first address. */
  readonly address: string;
  /** What runs a command in the container; undefined while it does not run. */
  readonly enter: () => readonly string[] | undefined;
}

export interface Prober {
  stop(): void;
}

/**
 * Probes until stopped.
 * @param onResult called when the outcome changes, after as many equal results as the probe asks for; with a message for
 * failures
 */
export const startProbe = (
  probe: Probe,
  target: ProbeTarget,
  onResult: (isSuccess: boolean, message: string) => void,
): Prober => {
  const stopped = new AbortController();
  let outcome: boolean | undefined;
  let run = { isSuccess: false, length: 0 };
  const once = async (): Promise<void> => {
    const message = await probeOnce(probe, target).then(() => undefined, messageOf);
    if (stopped.signal.aborted) return;
    const isSuccess = message === undefined;
    run = { isSuccess, length: run.isSuccess === isSuccess ? run.length + 1 : 1 };
    const needed = isSuccess ? probe.successThreshold : probe.failureThreshold;
    if (run.length >= needed && outcome !== isSuccess) {
      outcome = isSuccess;
      onResult(isSuccess, message ?? '');
    }
    if (!stopped.signal.aborted) timer = setTimeout(once, probe.periodSeconds * 1000);
  };
  let timer = setTimeout(once, probe.initialDelaySeconds * 1000);
  return {
    stop: () => {
      stopped.abort();
      clearTimeout(timer);
    },
  };
};

const probeOnce = async (probe: Probe, target: ProbeTarget): Promise<void> => {
  const signal = AbortSignal.timeout(probe.timeoutSeconds * 1000);
  if (probe.httpGet !== undefined) return await probeHttp(probe.httpGet, target, signal);
  if (probe.tcpSocket !== undefined) return await probeTcp(probe.tcpSocket, target, signal);
  if (probe.grpc !== undefined) {
    return await probeGrpc(target.address, probe.grpc.port, probe.grpc.service ?? '', signal);
  }
  if (probe.exec !== undefined) return await probeExec(probe.exec.command, target, signal);
  throw new Error('the probe has none of httpGet, tcpSocket, grpc and exec');
};

const probeHttp = (get: NonNullable<Probe['httpGet']>, target: ProbeTarget, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = request(
      {
        host: get.host ?? target.address,
        port: portOf(target, get.port),
        path: get.path.startsWith('/') ? get.path : `/${get.path}`,
        headers: Object.fromEntries(get.httpHeaders.map(({ name, value }) => [name, value])),
        agent: false,
        signal,
      },
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 400) resolve();
        else reject(new Error(`HTTP probe failed with statuscode: ${status}`));
      },
    );
    call.on('error', (error) => reject(signal.aborted ? new Error('timed out') : error));
    call.end();
  });

const probeTcp = (tcp: NonNullable<Probe['tcpSocket']>, target: ProbeTarget, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: tcp.host ?? target.address, port: portOf(target, tcp.port) });
    const onAbort = (): void => void socket.destroy(new Error('timed out'));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
    socket.on('close', () => signal.removeEventListener('abort', onAbort));
  });

const probeExec = async (command: readonly string[], target: ProbeTarget, signal: AbortSignal): Promise<void> => {
  const [file, ...prefix] = target.enter() ?? [];
  if (file === undefined) throw new Error('the container does not run');
  await commandRunner().run({ file, args: [...prefix, '--', ...command] }, signal);
};

const portOf = ({ container }: ProbeTarget, desired: number | string): number => {
  const port = probePort(container, desired);
  if (port === undefined) throw new Error(`the container has no port "${desired}"`);
  return port;
};
