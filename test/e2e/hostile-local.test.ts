/** Frames of every kind, from everywhere, to every entry point: who hears them. Local gateway mode. Needs root and `make build`. */
import { hostileSuite } from '../oracles/hostile/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';

hostileSuite(useCluster({ name: 'test-hostile-local', gatewayMode: 'local' }), { entryPoints: 'near' });
