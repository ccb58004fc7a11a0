/** Ports at which tunnels of nodes end. A packet that a pod sends there would be a frame in any network. */
export interface TunnelPort {
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
  readonly purpose: string;
}

/** The encapsulation between nodes: `ovn-encap-type`. RFC 8926 §3.3. */
export const GENEVE: TunnelPort = { protocol: 'udp', port: 6081, purpose: 'Geneve' };

/**
 * What IPsec between nodes has itself: IKE, also behind address translation (RFC 7296 §2, RFC 3948), and by their protocol numbers ESP
 * and AH (RFC 4303 §2, RFC 4302 §2).
 */
export const IPSEC = {
  ports: [500, 4500],
  esp: 50,
  ah: 51,
} as const;

/** And the others that Open vSwitch has with a header of UDP or TCP (ovs-vswitchd.conf.db(5), Interface `type`). */
export const TUNNEL_PORTS: readonly TunnelPort[] = [
  GENEVE,
  { protocol: 'udp', port: 4789, purpose: 'VXLAN (RFC 7348 §5)' },
  { protocol: 'tcp', port: 7471, purpose: 'STT' },
];
