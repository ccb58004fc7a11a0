/** What is measured of OVN beyond one number each. Pure. */

/** Of a layer-3 network. */
export const DATAPATHS = [
  'cluster-router',
  'node-switch',
  'transit-switch',
  'join-switch',
  'gateway-router',
  'external-switch',
] as const;
export type DatapathName = (typeof DATAPATHS)[number];

export const datapathFlowsName = (datapath: DatapathName): string => `ovn/flows-per-network/${datapath}`;

export const SETTINGS = [
  'no-cache',
  'cache-1-mib',
  'trim-after-1-s',
  'conditions',
  'no-ct-inv',
  'northd-2-threads',
] as const;
export type SettingName = (typeof SETTINGS)[number];

/** With their units. */
export const SETTING_QUANTITIES = {
  // Of an ovn-controller that has seen the networks come, and of one that has found them.
  'rss-grown': 'MiB',
  rss: 'MiB',
  'rss-northd': 'MiB',
  recomputes: '',
  ready: 'ms',
  'controller-cpu': 'ms',
  'restart-per-network': 'ms',
  'restart-cpu-per-network': 'ms',
} as const;
export type SettingQuantity = keyof typeof SETTING_QUANTITIES;

export const settingName = (setting: SettingName, quantity: SettingQuantity): string =>
  `ovn/settings/${setting}/${quantity}`;

export const SETTING_NAMES: readonly string[] = SETTINGS.flatMap((setting) =>
  (Object.keys(SETTING_QUANTITIES) as SettingQuantity[]).map((quantity) => settingName(setting, quantity)),
);
