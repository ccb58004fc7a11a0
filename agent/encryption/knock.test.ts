import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import { knock } from './knock.ts';

it('sends a version of Geneve that nobody knows', async () => {
  const peer = createSocket('udp4');
  peer.bind(6081, '127.0.77.1');
  await once(peer, 'listening');
  try {
    const heard = once(peer, 'message');
    knock(parseIp('127.0.77.2'), parseIp('127.0.77.1'));
    const [message, { address }] = (await heard) as [Buffer, { address: string }];
    expect(message.readUInt8(0) >> 6).not.toBe(0);
    expect(address).toBe('127.0.77.2');
  } finally {
    peer.close();
  }
});

it('is quiet where it can’t: an address that is not there', async () => {
  knock(parseIp('192.0.2.1'), parseIp('127.0.77.1'));
  knock(parseIp('2001:db8::1'), parseIp('::1'));
  await new Promise(setImmediate);
});
