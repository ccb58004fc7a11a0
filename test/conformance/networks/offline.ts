/** What our own reading of an object says, as `udnctl render` and the cluster manager would. */
import { parseClusterUserDefinedNetwork } from '../../../api/cluster-user-defined-network.ts';
import { ApiError } from '../../../api/errors.ts';
import { parseUserDefinedNetwork } from '../../../api/user-defined-network.ts';
import type { ValidCase } from './cases.ts';

export const readOffline = ({ kind, spec }: Pick<ValidCase, 'kind' | 'spec'>): unknown =>
  kind === 'UserDefinedNetwork'
    ? parseUserDefinedNetwork({ metadata: { namespace: 'ns', name: 'blue' }, spec })
    : parseClusterUserDefinedNetwork({ metadata: { name: 'blue' }, spec });

/** Undefined: it is taken. */
export const offlineRefusal = (one: Pick<ValidCase, 'kind' | 'spec'>): ApiError | undefined => {
  try {
    readOffline(one);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};
