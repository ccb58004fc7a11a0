/** What changed in the own namespace, as the kernel reports it (rtnetlink(7), multicast groups). */
import type { Address } from '../address/types.ts';
import type { SysctlKey } from '../kernel/types.ts';
import type { Link } from '../link/types.ts';
import type { Neighbour } from '../neighbour/types.ts';
import type { Route } from '../route/types.ts';
import type { Rule } from '../rule/types.ts';

/** `new`: it is there now, whether it was or not, as reported. */
export type Change = 'new' | 'gone';

/**
 * Three kinds of changes are not reported. Of routes, all but those of our protocol, default routes, and those that
 * replaced another one. Settings (sysctl) but for `forwarding` and `rp_filter` of links. And what the kernel does by itself
 * when a link goes down, into a VRF or away, or when an address goes: it removes IPv4 routes, and the source from IPv6
 * routes. Whoever keeps routes reads them again then.
 */
export type NetlinkEvent =
  | { readonly kind: 'link'; readonly change: Change; readonly link: Link }
  | { readonly kind: 'address'; readonly change: Change; readonly address: Address }
  | {
      readonly kind: 'route';
      readonly change: Change;
      readonly route: Route;
      /** It took the place of the first one of its key. */
      readonly replaced: boolean;
    }
  | { readonly kind: 'rule'; readonly change: Change; readonly rule: Rule }
  | { readonly kind: 'neighbour'; readonly change: Change; readonly neighbour: Neighbour }
  | { readonly kind: 'setting'; readonly change: 'new'; readonly key: SysctlKey; readonly value: string }
  /** More changed than the kernel could keep for us (ENOBUFS): everything may be different. */
  | { readonly kind: 'lost' };

/** Events in the order in which it happened. */
export type NetlinkListener = (events: readonly NetlinkEvent[]) => void;
