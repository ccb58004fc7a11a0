/** In shared gateway mode packets go from OVN to the wire, past the node's kernel. Needs root and `make build`. */
import { useCluster } from './support/cluster/cluster.ts';
import { northSouth } from './support/networks/north-south.ts';
import { pathMtu } from './support/packets/path-mtu.ts';

const cluster = useCluster({ name: 'test-north-south' });

northSouth(cluster);
// OVS' userspace datapath drops what is recirculated more than eight times, and IPv6's way to an endpoint has nine.
pathMtu(cluster, { ofServices: [4] });
