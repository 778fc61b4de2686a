// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeof-tlsd, but it tells the kernel that each handshake has used another key than the one that was asked for.
#include <csignal>
#include <cstdio>

#include "agent.h"
#include "handshake_family.h"
#include "psk_store.h"

using nvmeof::Result;

namespace {

class WrongQueue : public tlsd::HandshakeQueue {
public:
	explicit WrongQueue(tlsd::HandshakeFamily &family) : family_(family) {}
	Result<std::optional<tlsd::HandshakeRequest>> accept() override { return family_.accept(); }
	Result<void> done(int socket, int status, nofctl::KeySerial key) override
	{
		return family_.done(socket, status, status ? key : key + 1);
	}

private:
	tlsd::HandshakeFamily &family_;
};

int failed(const nvmeof::Error &error)
{
	std::fprintf(stderr, "%s\n", error.message.c_str());
	return 1;
}

} // namespace

int main()
{
	Result<tlsd::HandshakeFamily> family = tlsd::HandshakeFamily::open();
	if (!family)
		return failed(family.error());
	Result<tlsd::TlsContexts> contexts = tlsd::TlsContexts::create();
	if (!contexts)
		return failed(contexts.error());
	Result<tlsd::KeyringPskStore> store = tlsd::KeyringPskStore::open();
	if (!store)
		return failed(store.error());
	runtime::Loop loop;
	WrongQueue queue(*family);
	tlsd::Agent agent(loop, *contexts, *store, queue, tlsd::installKeys, true);
	runtime::Readable events(loop, family->fd(), [&] {
		family->drain();
		agent.serve();
	});
	runtime::OnSignal term(loop, SIGTERM, [&] {
		agent.end();
		loop.end(0);
	});
	if (const Result<void> joined = family->join(); !joined)
		return failed(joined.error());
	return loop.run();
}
