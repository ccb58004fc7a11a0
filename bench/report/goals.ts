/** Every benchmark, in the order of the table, with the largest ratio that is good; undefined: only to be known. */
export const GOALS: Readonly<Record<string, number | undefined>> = {
  'cni-add/default/p50': 1.25,
  'cni-add/default/p99': 3,
  'cni-add/primary/p50': 1.25,
  'cni-add/primary/p99': 3,
  'cni-add/networks-1000': 1.2,
  'cni-add/networks-1000-on-node': undefined,
  'cni-add/burst-50': 1.5,
  'render/pod-event-1000': 1.2,
  'render/cold-start-500': 2,
  'ovsdb/sync-100k': 1,
  'ovsdb/updates': 1,
  'shim/version': 2,
  'shim/rss': 1024,
  'agent/rss-idle': 90,
  'agent/rss-per-network': 250,
};
