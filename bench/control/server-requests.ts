/** What an API server was asked for, as it counts itself. Pure. */

/** `verb group/resource/subresource` → how often. */
export type RequestCounts = ReadonlyMap<string, number>;

/** @param text of `/metrics`: apiserver_request_total, over all answers and scopes */
export const parseRequestCounts = (text: string): RequestCounts => {
  const counts = new Map<string, number>();
  for (const [, labels = '', value = ''] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const resource = [label('group'), label('resource'), label('subresource')].filter((part) => part !== '').join('/');
    const key = `${label('verb')} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(value));
  }
  return counts;
};

/** What came between two readings; what did not, is left out. */
export const requestsBetween = (before: RequestCounts, after: RequestCounts): RequestCounts =>
  new Map(
    [...after].flatMap(([key, count]): [string, number][] => {
      const more = count - (before.get(key) ?? 0);
      return more > 0 ? [[key, more]] : [];
    }),
  );

/**
 * Those that change what the cluster manager may write (daemonset/cluster-manager-rbac.yaml), but for its Lease, which is renewed
 * as long as it leads. The controller manager's namespaces, accounts and config maps are none of these.
 */
export const writesOf = (counts: RequestCounts): RequestCounts =>
  new Map(
    [...counts].filter(([key]) => {
      const [verb = '', resource = ''] = key.split(' ');
      return WRITES.has(verb) && WRITABLE.test(resource);
    }),
  );

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION']);
const WRITABLE = /^(nodes|pods|events|discovery\.k8s\.io\/endpointslices|k8s\.ovn\.org\/.*|k8s\.cni\.cncf\.io\/.*)$/;

export const totalOf = (counts: RequestCounts): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
