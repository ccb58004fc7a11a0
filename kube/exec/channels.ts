/**
 * What is sent over the WebSocket of an exec: binary messages whose first byte names a channel, and in the end, on the channel
 * `error`, a Status with the exit code (k8s.io/apimachinery pkg/util/remotecommand/constants.go). Pure.
 */
import { errorOfStatus } from '../client/responses.ts';
import { KubeError } from '../errors.ts';
import { isRecord, recordOr } from '../is-record.ts';

/** The newest first. The fifth differs from the fourth only in how standard input ends, which is not used here. */
export const EXEC_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

const CHANNELS = { 1: 'stdout', 2: 'stderr', 3: 'error' } as const;

export interface ChannelMessage {
  readonly channel: (typeof CHANNELS)[keyof typeof CHANNELS];
  readonly content: Uint8Array;
}

/** Undefined: of a channel that carries nothing to us, or empty, as servers open channels. */
export const readMessage = (message: Uint8Array): ChannelMessage | undefined => {
  const [number] = message;
  if (message.length < 2 || number === undefined || !isChannel(number)) return undefined;
  return { channel: CHANNELS[number], content: message.subarray(1) };
};

const isChannel = (number: number): number is keyof typeof CHANNELS => number in CHANNELS;

/** @throws KubeError when the command could not be run, or what came is no Status */
export const exitStatusOf = (text: string, what: string): number => {
  const status = parsed(text, what);
  if (status['status'] === 'Success') return 0;
  const { causes } = recordOr(status['details']);
  const exit = Array.isArray(causes) ? causes.filter(isRecord).find(({ reason }) => reason === 'ExitCode') : undefined;
  const code = Number(exit?.['message'] ?? Number.NaN);
  if (status['reason'] === 'NonZeroExitCode' && Number.isInteger(code)) return code;
  throw errorOfStatus(status, { what });
};

const parsed = (text: string, what: string): Readonly<Record<string, unknown>> => {
  try {
    return recordOr(JSON.parse(text));
  } catch (cause) {
    throw new KubeError('ERR_KUBE_PROTOCOL', `${what}: the end of it is no Status: ${text.slice(0, 200)}`, { cause });
  }
};
