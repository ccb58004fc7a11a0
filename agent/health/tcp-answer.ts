/** Asks for a TCP connection, and is content with a refusal: RFC 9293, section 3.10.7.1, a closed port answers with a reset. */
import { connect } from 'node:net';
import { abortable } from '../../base/abort.ts';
import { codeOf } from '../../base/error-code.ts';
import type { Ip } from '../../net/ip.ts';

/** Resolves when the host answers. @throws what the kernel says; the signal's reason */
export const tcpAnswer = (address: Ip, port: number, signal: AbortSignal): Promise<void> =>
  abortable(signal, (resolve, reject) => {
    const socket = connect({ host: address, port });
    socket.once('connect', resolve);
    socket.once('error', (error) => (ANSWERS.has(codeOf(error) ?? '') ? resolve() : reject(error)));
    return () => socket.destroy();
  });

const ANSWERS: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET']);
