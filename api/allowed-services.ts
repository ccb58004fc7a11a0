/** Services of the default network that pods of every network reach: names in a setting of agents. */

import { ApiError } from './errors.ts';
import { commaList } from './scalars.ts';

/** `namespace/name` of each: the API of the cluster and its DNS. */
export const DEFAULT_ALLOWED_SERVICES = 'default/kubernetes,kube-system/kube-dns';

const NONE = 'none';

/** A comma list of `namespace/name`, or `none`. @throws ApiError ERR_API_FIELD */
export const parseAllowedServices = (text: string): readonly string[] => {
  if (text.trim() === NONE) return [];
  const keys = [...new Set(commaList(text))];
  const bad = keys.find((key) => !SERVICE_KEY.test(key));
  if (bad === undefined && keys.length > 0) return keys;
  throw new ApiError('ERR_API_FIELD', `"${bad ?? text}" is not the namespace/name of a Service, nor "${NONE}"`, {
    object: 'udn-agent',
    field: 'udn-allowed-default-services',
  });
};

/** RFC 1123 labels, which the names of Services are since Kubernetes 1.34; before they had to begin with a letter. */
const SERVICE_KEY = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
