/** What an agent on `LOCAL_NODE` is started with. */
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { LOCAL_NODE } from './objects.ts';

export const SETTINGS = {
  node: LOCAL_NODE,
  cluster: parseClusterConfig(),
  encapIps: [],
  southboundRemote: '',
  networkRendering: 'always' as const,
  allowedDefaultServices: [],
};
