/** Frames in packets: what a node takes for another node's when it believes the outer header. */
import { word } from '../../../e2e/support/packets/frames.ts';

export const GENEVE_PORT = 6081;
export const VXLAN_PORT = 4789;

interface GeneveKey {
  readonly vni: number;
  readonly egress: number;
  /** OVN drops what would leave by the port that it came in by. */
  readonly ingress?: number;
}

/** RFC 8926 §3.4, with OVN's option: class 0x0102, type 0x80, the ports that the frame comes from and is for. */
export const genevePayload = (key: GeneveKey, inner: Buffer): Buffer => {
  const header = [0x02, 0x40, 0x65, 0x58, ...bytes3(key.vni), 0];
  const option = [0x01, 0x02, 0x80, 0x01, ...word(key.ingress ?? 1), ...word(key.egress)];
  return Buffer.concat([Buffer.from([...header, ...option]), inner]);
};

/** RFC 7348 §5. OVN has the ports in the network's number then (ovn-architecture(7)); 12 bits are the logical switch's. */
export const vxlanPayload = (vni: number, inner: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x08, 0, 0, 0, ...bytes3(vni), 0]), inner]);

const bytes3 = (value: number): readonly number[] => [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
