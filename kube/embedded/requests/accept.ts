/** In which form the client wants objects. */
import { notAcceptable } from '../status-error.ts';

export type Format =
  | { readonly as: 'object'; readonly encoding: 'json' | 'yaml' }
  /** Rows for `kubectl get`. */
  | { readonly as: 'table'; readonly version: string; readonly encoding: 'json' }
  /** `metadata` alone. */
  | { readonly as: 'partial'; readonly version: string; readonly encoding: 'json' };

const JSON_FORMAT: Format = { as: 'object', encoding: 'json' };

/**
 * The first entry that can be served.
 * @throws StatusError 406
 */
export const formatOf = (accept: string | undefined): Format => {
  const entries = (accept ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) return JSON_FORMAT;
  for (const entry of entries) {
    const format = formatOfEntry(entry);
    if (format !== undefined) return format;
  }
  throw notAcceptable(['application/json', 'application/yaml']);
};

const formatOfEntry = (entry: string): Format | undefined => {
  const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
  const values = new Map(parameters.map((parameter) => [parameter.split('=')[0], parameter.split('=')[1] ?? '']));
  if (type === 'application/yaml') return values.has('as') ? undefined : { as: 'object', encoding: 'yaml' };
  if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') return undefined;
  const [as, version = ''] = [values.get('as'), values.get('v')];
  if (as === undefined) return JSON_FORMAT;
  if (values.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (as === 'Table') return { as: 'table', version, encoding: 'json' };
  return as.startsWith('PartialObjectMetadata') ? { as: 'partial', version, encoding: 'json' } : undefined;
};
