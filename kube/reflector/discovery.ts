/**
 * What the API server itself lists of what it serves. That a resource is not found proves nothing: Go's HTTP server has the same page for it as
 * the API server (`404 page not found`), and so has each proxy in Go. None of them has a list of groups.
 */
import { z } from 'zod';
import { isForbidden, isNotFound, KubeError } from '../errors.ts';
import type { KubeClient, ResourceType } from '../types.ts';

type Client = Pick<KubeClient, 'request'>;
type Served = Pick<ResourceType, 'group' | 'version' | 'plural'>;

/**
 * Who may not read the lists at all (`system:discovery` and the own role have been taken) learns from that no more than that a server with authorization
 * answers: only its Status object counts, as each proxy can say 403, and only of the first list, as who may read one of them may read all.
 * @returns false: not in the lists, or they are forbidden
 * @throws KubeError where nobody has answered with a list
 */
export const isListed = async (client: Client, { group, version, plural }: Served, signal?: AbortSignal) => {
  const read = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const answer = schema.safeParse(await client.request({ method: 'GET', path }, signal));
    if (answer.success) return answer.data;
    throw new KubeError('ERR_KUBE_PROTOCOL', `GET ${path}: the answer is no list of what is served`);
  };
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  let isFirst = true;
  try {
    const groups = group === '' ? undefined : (await read('/apis', groupsSchema)).groups;
    isFirst = groups === undefined;
    const own = groups?.find(({ name }) => name === group);
    if (groups !== undefined && own?.versions.some((one) => one.version === version) !== true) return false;
    const { resources } = await read(prefix, resourcesSchema);
    return resources.some(({ name }) => name === plural);
  } catch (error) {
    if (isFirst && isForbidden(error) && error.reason === 'Forbidden') return false;
    throw error;
  }
};

/**
 * Whether the API server has no definition of the kind in its store. What it serves, and its lists of that, follow the store some moments
 * later, but whoever asks for the definition itself gets it as soon as somebody has created it.
 * @returns false: there may be one, or it was not the API server who has answered
 */
export const lacksDefinition = async (client: Client, { group, plural }: Served, signal?: AbortSignal) => {
  if (group === '') return false;
  const name = `${plural}.${group}`;
  try {
    await client.request({ method: 'GET', path: `${DEFINITIONS}/${name}` }, signal);
    return false;
  } catch (error) {
    // By its Status object: a proxy in front of it has pages of its own.
    return isNotFound(error) && error.reason === 'NotFound' && error.message.includes(`"${name}" not found`);
  }
};

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const groupsSchema = z.object({
  kind: z.literal('APIGroupList'),
  groups: z.array(z.object({ name: z.string(), versions: z.array(z.object({ version: z.string() })) })),
});

const resourcesSchema = z.object({
  kind: z.literal('APIResourceList'),
  resources: z.array(z.object({ name: z.string() })),
});
