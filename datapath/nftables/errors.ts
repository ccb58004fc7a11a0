/** Every error of this package. Codes are listed in docs/errors.md. */
import { CommandError } from '../exec/errors.ts';

export type NftErrorCode =
  /** There is no program `nft`. */
  | 'ERR_NFT_MISSING'
  /** The kernel has no nf_tables, or this process may not use it. */
  | 'ERR_NFT_KERNEL'
  /** `nft` printed something that cannot be read. */
  | 'ERR_NFT_LISTING'
  /** `nft` failed in another way; the message has what it said. */
  | 'ERR_NFT_FAILED';

export class NftError extends Error {
  override readonly name = 'NftError';
  readonly code: NftErrorCode;

  constructor(code: NftErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** A line of a script that was refused. Nothing of the script was done. */
export interface RefusedLine {
  /** From 0. */
  readonly line: number;
  readonly reason: string;
}

/** `/dev/stdin:3:26-29: Error: No such file or directory; did you mean …`; further lines point into the text. */
const REFUSED = /^[^\s:]+:(\d+):\d+(?:-\d+)?: Error: (.+)$/gm;

/** Which lines of a script were refused; none when something else went wrong. */
export const refusedLines = (error: unknown): readonly RefusedLine[] =>
  error instanceof CommandError
    ? [...error.stderr.matchAll(REFUSED)].map(([, line, reason = '']) => ({ line: Number(line) - 1, reason }))
    : [];

/** `nft list table` of a table that is not there. */
export const isAbsentTable = (error: unknown): boolean =>
  error instanceof CommandError && error.exitCode === 1 && error.stderr.includes('No such file or directory');

/** What netlink answers without nf_tables, and without CAP_NET_ADMIN. `nft` says it with strerror(3). */
const NO_KERNEL = /Operation not supported|Protocol not supported|Operation not permitted|cache initialization failed/;

export const toNftError = (error: unknown): unknown => {
  if (!(error instanceof CommandError) || error.code === 'ERR_EXEC_ABORTED') return error;
  if (error.code === 'ERR_EXEC_NOT_FOUND')
    return new NftError('ERR_NFT_MISSING', 'the program nft is not installed: install nftables', error);
  if (error.exitCode !== undefined && NO_KERNEL.test(error.stderr))
    return new NftError(
      'ERR_NFT_KERNEL',
      `the kernel has no nf_tables, or CAP_NET_ADMIN is missing: ${firstLine(error.stderr)}`,
      error,
    );
  return new NftError('ERR_NFT_FAILED', error.message, error);
};

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? '';
