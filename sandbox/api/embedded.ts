/** The API server in memory, as a process of its own: `sandbox api`. */
import { join } from 'node:path';
import type { Artifacts } from '../artifacts.ts';
import type { ApiServerKind } from './types.ts';

export const embeddedApi = ({ node, dist }: Artifacts): ApiServerKind => ({
  command: ({ kubeconfig, socket, data, serviceSubnets, endpoint }) => ({
    file: node,
    args: [
      join(dist, 'sandbox.mjs'),
      'api',
      ...['--kubeconfig', kubeconfig],
      ...['--socket', socket],
      ...['--data', data],
      ...serviceSubnets.flatMap((subnet) => ['--service-subnet', subnet]),
      ...endpoint.addresses.flatMap((address) => ['--endpoint', address]),
      ...['--endpoint-port', String(endpoint.port)],
    ],
  }),
});
