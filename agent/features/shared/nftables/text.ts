/** Builders of nft items and words of nft(8) that depend on the family. */
import type { Chain, NftItem, NftSet } from '../../../../datapath/nftables/types.ts';
import type { Family } from '../../../../net/ip.ts';
import { type ChainEntry, NFT_CHAINS } from '../../../model/registry/nftables.ts';

export const chain = (which: keyof typeof NFT_CHAINS, rules: readonly string[]): NftItem => {
  const { name, hook }: ChainEntry = NFT_CHAINS[which];
  const desired: Chain = { name, ...(hook === undefined ? {} : { hook }), rules };
  return { kind: 'chain', chain: desired };
};

export const set = (desired: NftSet): NftItem => ({ kind: 'set', set: desired });

export const jump = (which: keyof typeof NFT_CHAINS): string => `jump ${NFT_CHAINS[which].name}`;

/** `ip` or `ip6`. */
export const ipWord = (family: Family): string => (family === 4 ? 'ip' : 'ip6');

export const addressType = (family: Family): string => `ipv${family}_addr`;

/** As nft(8) prints it. */
export const markText = (mark: number): string => `0x${mark.toString(16).padStart(8, '0')}`;
