/**
 * Whether the port of a pod would have the name of a port of infrastructure. Names of pods' ports are those that tools know
 * from ovn-kubernetes, and so are the others: where the two meet the pod gets no port. Only what could be such a name is looked
 * up, which of nearly all pods is nothing.
 */
import type { GatewayFact } from '../model/facts.ts';
import type { View } from '../model/view.ts';

type Names = Pick<View, 'node' | 'gateway' | 'networkWithPrefix' | 'nodeFact'>;

/** @param name of the port, see `podPortName` @returns what has the name: `the node's localnet port` */
export const holderOfPortName = (name: string, view: Names): string | undefined => {
  const end = name.lastIndexOf('_') + 1;
  const parts = { stem: name.slice(0, end), rest: name.slice(end) };
  return transitPort(parts, view) ?? nodePort(parts, view) ?? localnetPort(name, parts, view);
};

/** What names begin with, up to the last `_`, and the rest: a pod's name. */
interface Parts {
  readonly stem: string;
  readonly rest: string;
}

/** `<prefix>tstor-<node>` */
const transitPort = ({ stem, rest }: Parts, view: Names): string | undefined => {
  const [, kind, node = ''] = /^(rtots|tstor)-(.+)$/.exec(rest) ?? [];
  if (kind === undefined || view.nodeFact(node) === undefined) return undefined;
  const network = view.networkWithPrefix(stem);
  return network && `the port of network ${network} between its router and its transit switch on node ${node}`;
};

/** `rtos-<prefix><node>`: a prefix has no `-`. */
const nodePort = ({ stem, rest }: Parts, view: Names): string | undefined => {
  const [, prefix] = /^(?:rtos|stor|k8s)-(.+)$/.exec(stem) ?? [];
  const network = prefix === undefined ? undefined : view.networkWithPrefix(prefix);
  if (network === undefined || view.nodeFact(rest) === undefined) return undefined;
  return `a port of network ${network} on node ${rest}`;
};

/** `<bridge>_<prefix><node>` */
const localnetPort = (name: string, { stem, rest }: Parts, view: Names): string | undefined => {
  // Of most nodes no pod has the name, so nothing is looked up.
  if (rest !== view.node) return undefined;
  const gateway: GatewayFact | undefined = view.gateway(view.node);
  if (gateway === undefined) return undefined;
  if (name === gateway.interfaceId) return "the node's localnet port";
  const bridge = `${gateway.bridge}_`;
  if (!stem.startsWith(bridge)) return undefined;
  const prefix = stem.slice(bridge.length);
  const network = prefix === '' ? 'default' : view.networkWithPrefix(prefix);
  return network && `the node's localnet port of network ${network}`;
};
