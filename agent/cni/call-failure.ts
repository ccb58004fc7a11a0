/** What is logged and counted of a CNI call that failed: also of one whose request could not be read. */
import type { Logger } from 'pino';
import { CniError } from '../../api/cni/error.ts';
import { messageOf } from '../../base/error-message.ts';
import { type CniFailureCause, failureCause } from './failure-cause.ts';

export interface CallFailure {
  /** As in CNI_COMMAND; `unknown` for what is none. */
  readonly command: string;
  /** `namespace/name`, where the caller gave both. */
  readonly pod: string | undefined;
  readonly sandbox: string | undefined;
  readonly cause: CniFailureCause;
  readonly message: string;
  readonly details: string | undefined;
}

/** @param env of the call, `CNI_…` variables */
export const callFailure = (env: Readonly<Record<string, string | undefined>>, error: unknown): CallFailure => {
  const [, namespace] = /(?:^|;)K8S_POD_NAMESPACE=([^;]+)/.exec(env['CNI_ARGS'] ?? '') ?? [];
  const [, name] = /(?:^|;)K8S_POD_NAME=([^;]+)/.exec(env['CNI_ARGS'] ?? '') ?? [];
  const details = error instanceof CniError ? error.details : '';
  return {
    command: COMMANDS.find((command) => command === env['CNI_COMMAND']) ?? 'unknown',
    pod: namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`,
    sandbox: env['CNI_CONTAINERID'],
    cause: failureCause(error),
    message: messageOf(error),
    details: details === '' ? undefined : details,
  };
};

/** Labels of a metric are few, whatever a caller sends. */
const COMMANDS = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION'] as const;

export const logCallFailure = (log: Logger, { message, ...failure }: CallFailure): void => {
  const isUsual = failure.cause === 'deleted' || failure.cause === 'interrupted';
  log.child({ module: 'cni' })[isUsual ? 'info' : 'warn']({ ...failure, reason: message }, 'CNI call failed');
};
