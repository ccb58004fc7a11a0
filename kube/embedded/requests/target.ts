/** Reads the URLs of resources. */
import type { Registry } from '../registry.ts';
import { noSuchPath } from '../status-error.ts';
import type { Target } from './types.ts';

/**
 * Of `/api/v1/…` and `/apis/GROUP/VERSION/…`, below the version.
 * @throws StatusError 404
 */
export const targetOf = (registry: Registry, segments: readonly string[]): Target => {
  const [root, ...parts] = segments;
  const group = root === 'apis' ? (parts.shift() ?? '') : '';
  const version = parts.shift() ?? '';
  // `/namespaces/NAME` alone is the namespace itself, and so are its subresources.
  const inNamespace = parts[0] === 'namespaces' && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] ?? '');
  const namespace = inNamespace ? (parts[1] ?? '') : '';
  const [plural = '', name, subresource, ...rest] = inNamespace ? parts.slice(2) : parts;
  const definition = registry.find(group, version, plural);
  if (definition === undefined || rest.length > 0) throw noSuchPath();
  if (inNamespace && !definition.namespaced) throw noSuchPath();
  if (!inNamespace && definition.namespaced && name !== undefined) throw noSuchPath();
  return { definition, namespace, name, subresource };
};

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);
