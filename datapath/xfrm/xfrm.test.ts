import { expect, it } from 'vitest';
import { createXfrm } from './xfrm.ts';

/** As iproute2 6.15 prints them. */
const POLICIES = `\
src 172.20.0.11/32 dst 172.20.0.12/32 proto udp dport 6081 
\tdir out priority 366912 
\ttmpl src 0.0.0.0 dst 0.0.0.0
\t\tproto esp reqid 2 mode transport
src fd00::1/128 dst fd00::2/128 proto udp dport 6081 
\tdir out priority 366912 
\ttmpl src :: dst ::
\t\tproto esp reqid 4 mode transport
src 172.20.0.11/32 dst 172.20.0.12/32 proto udp sport 6081 
\tdir out priority 366912 
\ttmpl src 0.0.0.0 dst 0.0.0.0
\t\tproto esp reqid 1 mode transport
src 172.20.0.11/32 dst 172.20.0.13/32 proto udp dport 6081 
\tdir out action block priority 366912 
src ::/0 dst ::/0 
\tsocket out priority 0 
`;

const STATES = `\
src 172.20.0.11 dst 172.20.0.13
\tproto esp spi 0x00000000 reqid 2 mode transport
\treplay-window 0 
\tsel src 172.20.0.11/32 dst 172.20.0.13/32 proto udp sport 16050 dport 6081 dev br-ex 
src 172.20.0.11 dst 172.20.0.12
\tproto esp spi 0xc4790a9f reqid 2 mode transport
\treplay-window 0 
\taead rfc4106(gcm(aes)) <<Keys hidden>> 128
`;

it('reads what is encrypted, and what is asked for', async () => {
  const commands: string[] = [];
  const xfrm = createXfrm({
    run: ({ file, args }) => {
      commands.push([file, ...args].join(' '));
      return Promise.resolve({ stdout: args.includes('policy') ? POLICIES : STATES, stderr: '' });
    },
  });
  expect(await xfrm.policies()).toEqual([
    { src: '172.20.0.11', dst: '172.20.0.12', port: 6081 },
    { src: 'fd00::1', dst: 'fd00::2', port: 6081 },
  ]);
  expect(await xfrm.associations()).toEqual({
    asked: new Set(['172.20.0.13']),
    present: new Set(['172.20.0.12']),
  });
  expect(commands).toEqual(['ip xfrm policy list dir out', 'ip xfrm state list nokeys']);
});

it('an empty list has nothing', async () => {
  const xfrm = createXfrm({ run: () => Promise.resolve({ stdout: '', stderr: '' }) });
  expect(await xfrm.policies()).toEqual([]);
  expect(await xfrm.associations()).toEqual({ asked: new Set(), present: new Set() });
});
