import { messageOf } from '../../base/error-message.ts';

/** Waits for all, also when some fail. @throws the failure, or an AggregateError of several */
export const settleAll = async (all: readonly Promise<unknown>[]): Promise<void> => {
  const results = await Promise.allSettled(all);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (failures.length > 0)
    throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(messageOf).join('; '));
};
