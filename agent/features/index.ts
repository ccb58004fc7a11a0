/** All features, in the order in which they were added. Adding a capability adds a folder and a line here. */
import type { Feature } from '../model/fragment.ts';
import { attachments } from './attachments/index.ts';
import { isolatedPods, isolation } from './isolation/index.ts';
import { layer2Network } from './layer2/index.ts';
import { layer3Network, layer3Node } from './layer3/index.ts';
import { openVswitch } from './open-vswitch/index.ts';
import { pods } from './pods/index.ts';
import { remoteChassis } from './remote-chassis/index.ts';
import { zone } from './zone/index.ts';

export const FEATURES: readonly Feature[] = [
  zone,
  openVswitch,
  remoteChassis,
  layer3Network,
  layer3Node,
  layer2Network,
  attachments,
  pods,
  isolation,
  isolatedPods,
];
