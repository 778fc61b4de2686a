// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeof-tlsd, but it tells the kernel that each handshake has used another key than the one that was asked for.
#include <cstdio>

#include "handshake_family.h"
#include "serve.h"

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

} // namespace

int main()
{
	Result<tlsd::HandshakeFamily> family = tlsd::HandshakeFamily::open();
	if (family) {
		WrongQueue queue(*family);
		const Result<void> served = tlsd::serve(*family, queue, true);
		if (served)
			return 0;
		std::fprintf(stderr, "%s\n", served.error().message.c_str());
	}
	return 1;
}
