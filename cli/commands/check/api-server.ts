/** Whether the API server can be installed to: its version, what it serves, and whether this user may. */
import { z } from 'zod';
import type { KubeClient } from '../../../kube/types.ts';
import { INSTALLED, OLDEST_KUBERNETES } from './expectations.ts';
import { type Finding, failed, findingOf, ok, resultOf } from './finding.ts';
import { isAllowed } from './reviews.ts';

const versionSchema = z.object({ major: z.string(), minor: z.string(), gitVersion: z.string() });
const resourcesSchema = z.object({ resources: z.array(z.object({ name: z.string() })) });

export const checkVersion = (client: KubeClient): Promise<Finding> =>
  findingOf('API server', async () => {
    const version = versionSchema.parse(await client.request({ method: 'GET', path: '/version' }));
    const what = `API server, ${version.gitVersion}`;
    const { major, minor } = OLDEST_KUBERNETES;
    // Clouds write `30+`.
    const [itsMajor, itsMinor] = [Number.parseInt(version.major, 10), Number.parseInt(version.minor, 10)];
    if (itsMajor > major || (itsMajor === major && itsMinor >= minor)) return ok(what);
    return failed(what, `it is older than ${major}.${minor}, so it does not name the node of an agent in its requests`);
  });

export const checkAdmissionServed = (client: KubeClient): Promise<Finding> =>
  findingOf('admission policies are served', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1';
    const { resources } = resourcesSchema.parse(await client.request({ method: 'GET', path }));
    const isServed = resources.some(({ name }) => name === 'validatingadmissionpolicies');
    return resultOf('admission policies are served', isServed ? [] : ['admissionregistration.k8s.io/v1 has none']);
  });

export const checkInstaller = (client: KubeClient): Promise<Finding> =>
  findingOf('this user may install', async () => {
    const answers = await Promise.all(
      INSTALLED.map(async (resource) =>
        (await isAllowed(client, { resource, verb: 'create' })) ? [] : [`may not create ${resource}`],
      ),
    );
    return resultOf('this user may install', answers.flat());
  });
