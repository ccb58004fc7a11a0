/** A client that writes down which permissions its requests need. */
import { isNotFound, KubeError } from '../../../kube/errors.ts';
import type { KubeClient, ObjectRef, ResourceType } from '../../../kube/types.ts';
import { permission } from './load.ts';

export interface RecordingClient {
  readonly client: KubeClient;
  readonly used: ReadonlySet<string>;
}

/**
 * @param conflictOnce resources whose first patch of each type is refused, as when somebody else was quicker
 * @param deniedOnce resources whose first server-side apply is refused, as by an admission webhook
 */
export const recordingClient = (
  server: KubeClient,
  conflictOnce: readonly ResourceType[],
  deniedOnce: readonly ResourceType[] = [],
): RecordingClient => {
  const used = new Set<string>();
  const note = ({ group, plural }: ResourceType, verb: string, subresource?: string): void => {
    used.add(permission(group, subresource === undefined ? plural : `${plural}/${subresource}`, verb));
  };
  const refused = new Set<string>();
  const client: KubeClient = {
    ...server,
    get: (resource, ...rest) => {
      note(resource, 'get');
      return server.get(resource, ...rest);
    },
    list: (resource, ...rest) => {
      note(resource, 'list');
      return server.list(resource, ...rest);
    },
    watch: (resource, ...rest) => {
      note(resource, 'watch');
      return server.watch(resource, ...rest);
    },
    create: (resource, object, options, ...rest) => {
      note(resource, 'create', options?.subresource);
      return server.create(resource, object, options, ...rest);
    },
    update: (resource, object, options, ...rest) => {
      note(resource, 'update', options?.subresource);
      return server.update(resource, object, options, ...rest);
    },
    patch: async (resource, ref, patch, options, ...rest) => {
      note(resource, 'patch', options?.subresource);
      const kind = `${resource.plural} ${patch.type}`;
      if (conflictOnce.includes(resource) && !refused.has(kind)) {
        refused.add(kind);
        throw new KubeError('ERR_KUBE_STATUS', 'somebody was quicker', { status: 409, reason: 'Conflict' });
      }
      if (deniedOnce.includes(resource) && patch.type === 'apply' && !refused.has(`${kind} denied`)) {
        refused.add(`${kind} denied`);
        throw new KubeError('ERR_KUBE_STATUS', 'admission webhook says no', { status: 403, reason: 'Forbidden' });
      }
      // Server-side apply makes what is not there.
      if (patch.type === 'apply' && !(await exists(server, resource, ref))) note(resource, 'create');
      return server.patch(resource, ref, patch, options, ...rest);
    },
    delete: (resource, ...rest) => {
      note(resource, 'delete');
      return server.delete(resource, ...rest);
    },
    request: async ({ method, path }) => {
      // Of reviews, which the server of this test does not know.
      const [, group, plural] = /^\/apis\/([^/]+)\/v1\/(\w+)$/.exec(path) ?? [];
      if (method !== 'POST' || group === undefined || plural === undefined) {
        throw new Error(`${method} ${path}: a raw request needs permissions that nobody knows`);
      }
      used.add(permission(group, plural, 'create'));
      return plural === 'tokenreviews'
        ? { status: { authenticated: true, user: { username: 'test' } } }
        : { status: { allowed: true } };
    },
  };
  return { client, used };
};

const exists = async (server: KubeClient, resource: ResourceType, ref: ObjectRef): Promise<boolean> => {
  try {
    await server.get(resource, ref);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
};
