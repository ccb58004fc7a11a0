/** All cases. */
import type { InvalidCase, UpdateCase, ValidCase } from './cases.ts';
import { invalidEvpn, invalidNoOverlay, invalidSpec, validCluster } from './cluster.ts';
import { invalidLayer2, validLayer2 } from './layer2.ts';
import { invalidLayer3, validLayer3 } from './layer3.ts';
import { invalidLocalnet, invalidMtu, validLocalnet, validMtu } from './localnet.ts';
import { networkUpdates, specUpdates } from './updates.ts';

export const INVALID: readonly InvalidCase[] = [
  ...invalidLayer3,
  ...invalidLayer2,
  ...invalidLocalnet,
  ...invalidMtu,
  ...invalidNoOverlay,
  ...invalidEvpn,
  ...invalidSpec,
];

export const VALID: readonly ValidCase[] = [
  ...validLayer3,
  ...validLayer2,
  ...validLocalnet,
  ...validMtu,
  ...validCluster,
];

export const UPDATES: readonly UpdateCase[] = [...networkUpdates, ...specUpdates];
