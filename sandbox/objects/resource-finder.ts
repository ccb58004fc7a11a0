/** Which resource a user means: asked of the API server, so that CRDs are known. */
import { z } from 'zod';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { SandboxError } from '../errors.ts';

export interface KnownResource extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
}

const groupList = z.object({
  groups: z.array(z.object({ name: z.string(), versions: z.array(z.object({ version: z.string() })) })),
});
const resourceList = z.object({
  resources: z.array(
    z.object({
      name: z.string(),
      singularName: z.string().default(''),
      kind: z.string(),
      namespaced: z.boolean(),
      shortNames: z.array(z.string()).default([]),
    }),
  ),
});

export interface ResourceFinder {
  /** `pod`, `pods`, `Pod`, `po`, `NAME.GROUP`. @throws SandboxError ERR_SANDBOX_NOT_FOUND */
  byName(name: string, signal?: AbortSignal): Promise<KnownResource>;
  /** @throws SandboxError ERR_SANDBOX_NOT_FOUND */
  byKind(apiVersion: string, kind: string, signal?: AbortSignal): Promise<KnownResource>;
  /** Asks the server again at the next look-up. */
  forget(): void;
}

export const createResourceFinder = (client: Pick<KubeClient, 'request'>): ResourceFinder => {
  let known: Promise<readonly KnownResource[]> | undefined;
  const resources = (signal?: AbortSignal): Promise<readonly KnownResource[]> => {
    known ??= discover(client, signal).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
  return {
    byName: async (name, signal) => findByName(await resources(signal), name),
    byKind: async (apiVersion, kind, signal) => findByKind(await resources(signal), apiVersion, kind),
    forget: () => {
      known = undefined;
    },
  };
};

/** The preferred version of a group comes first. */
export const findByName = (resources: readonly KnownResource[], text: string): KnownResource => {
  const [name = '', ...group] = text.toLowerCase().split('.');
  const found = resources.find(
    (resource) =>
      [resource.plural, resource.singular, resource.kind.toLowerCase(), ...resource.shortNames].includes(name) &&
      (group.length === 0 || resource.group === group.join('.')),
  );
  if (found === undefined) throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `the API server serves no "${text}"`);
  return found;
};

const findByKind = (resources: readonly KnownResource[], apiVersion: string, kind: string): KnownResource => {
  const found = resources.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
  if (found === undefined) {
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `the API server serves no ${kind} of ${apiVersion}`);
  }
  return found;
};

export const apiVersionOf = ({ group, version }: ResourceType): string =>
  group === '' ? version : `${group}/${version}`;

const discover = async (
  client: Pick<KubeClient, 'request'>,
  signal: AbortSignal | undefined,
): Promise<readonly KnownResource[]> => {
  const { groups } = groupList.parse(await client.request({ method: 'GET', path: '/apis' }, signal));
  const served = [
    { group: '', version: 'v1', path: '/api/v1' },
    ...groups.flatMap(({ name, versions }) =>
      versions.map(({ version }) => ({ group: name, version, path: `/apis/${name}/${version}` })),
    ),
  ];
  const lists = await Promise.all(
    served.map(async ({ group, version, path }) => {
      const { resources } = resourceList.parse(await client.request({ method: 'GET', path }, signal));
      return resources
        .filter(({ name }) => !name.includes('/'))
        .map(
          ({ name, singularName, kind, namespaced, shortNames }): KnownResource => ({
            ...{ group, version, plural: name, kind, namespaced, shortNames },
            singular: singularName,
          }),
        );
    }),
  );
  return lists.flat();
};
