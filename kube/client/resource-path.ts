/** URLs of the API (Kubernetes API concepts, "Resource URIs"). */
import type { ResourceType } from '../types.ts';

export interface PathParts {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** For example `/apis/networking.k8s.io/v1/namespaces/red/networkpolicies/deny`. */
export const resourcePath = (resource: ResourceType, { namespace, name, subresource }: PathParts = {}): string => {
  if (name !== undefined && resource.namespaced && !namespace) {
    throw new TypeError(`${resource.plural} are namespaced, "${name}" has no namespace`);
  }
  const segments = [
    ...(resource.group === '' ? ['api'] : ['apis', resource.group]),
    resource.version,
    ...(resource.namespaced && namespace ? ['namespaces', namespace] : []),
    resource.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource ? [subresource] : []),
  ];
  return `/${segments.map(encodeURIComponent).join('/')}`;
};

/** `v1`, or `group/version`. */
export const apiVersionOf = ({ group, version }: Pick<ResourceType, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** With its question mark; empty when every parameter is undefined. */
export const queryString = (parameters: Readonly<Record<string, string | number | boolean | undefined>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
};
