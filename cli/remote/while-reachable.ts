/**
 * Ends a command on a node that cannot be reached. kube-apiserver waits half a minute for a connection to a kubelet, and has accepted the
 * user's WebSocket before; a command may write nothing for as long and be well. So a small request to the same kubelet decides.
 */
import type { Clock } from '../../base/clock.ts';
import { isUnavailable, KubeError } from '../../kube/errors.ts';
import type { ExecOutput } from '../../kube/exec/types.ts';

export interface Watched {
  readonly output: ExecOutput;
  /** Any request that the kubelet of the node answers. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Most commands have written something by then, and need no probe. */
const QUIET_MS = 3_000;
const PROBE_MS = 5_000;

/** @throws what `run` rejects with: its signal's reason is a KubeError that `isUnreachable` when the kubelet does not answer */
export const whileReachable = async <Result>(
  { output, probe, clock, signal }: Watched,
  run: (output: ExecOutput, signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const unreachable = new AbortController();
  const answered = new AbortController();
  const probeOnce = async (): Promise<void> => {
    const failure = await failureOf(probe, clock, answered.signal);
    if (!answered.signal.aborted && isUnreachable(failure)) unreachable.abort(failure);
  };
  const cancel = clock.schedule(QUIET_MS, () => void probeOnce());
  const isAnswering = (): void => {
    cancel();
    answered.abort();
  };
  const noted = (channel: keyof ExecOutput) => (chunk: Uint8Array) => {
    isAnswering();
    output[channel](chunk);
  };
  try {
    const ended = signal === undefined ? [unreachable.signal] : [unreachable.signal, signal];
    return await run({ stdout: noted('stdout'), stderr: noted('stderr') }, AbortSignal.any(ended));
  } finally {
    isAnswering();
  }
};

/**
 * The API server has answered a moment ago: it is the node that does not answer it. The texts are kube-apiserver's, and Go's. It words
 * webhooks that it cannot call in the same way, and a kubelet those that it asks who may do what.
 */
export const isUnreachable = (error: unknown): boolean =>
  isUnavailable(error) ||
  (error instanceof KubeError &&
    /error dialing backend|\bdial tcp\b/.test(error.message) &&
    !/webhook|authorization|authentication/i.test(error.message));

const failureOf = async (probe: Watched['probe'], clock: Clock, answered: AbortSignal): Promise<unknown> => {
  const late = new AbortController();
  const cancel = clock.schedule(PROBE_MS, () =>
    late.abort(new KubeError('ERR_KUBE_TIMEOUT', `its kubelet does not answer within ${PROBE_MS / 1_000} s`)),
  );
  try {
    await probe(AbortSignal.any([late.signal, answered]));
    return undefined;
  } catch (error) {
    return late.signal.aborted ? late.signal.reason : error;
  } finally {
    cancel();
  }
};
