/** What the errors of a call's parts mean to its caller. */
import { CniError } from '../../api/cni/error.ts';
import { messageOf } from '../../base/error-message.ts';

/** A later call of the pod's says so itself; what could not be taken back says more. */
export const endedBy = ({ aborted, reason }: AbortSignal, error: unknown): CniError | undefined =>
  aborted && reason instanceof CniError && !(error instanceof AggregateError) ? reason : undefined;

/** The specification wants the name of what is wrong in the environment, section 5, "Error". */
export const namedError = (error: unknown): unknown =>
  hasCode(error, 'ERR_POD_NETNS')
    ? new CniError('invalidEnvironment', `CNI_NETNS: ${messageOf(error)}`, { field: 'CNI_NETNS', cause: error })
    : error;

/** What has the name is not ours: then ours is gone already. */
export const ignoreForeign = (error: unknown): void => {
  if (!hasCode(error, 'ERR_POD_LINK_FOREIGN')) throw error;
};

/** Errors of the worker thread have their code, but not their class. */
const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === code;
