// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeof-tlsd, but it tells the kernel that each handshake has used another key than the one that was asked for. With
// an argument it only listens for handshakes, which any user may, and takes none.
#include <cstdio>
#include <unistd.h>

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

int main(int argc, char **)
{
	Result<tlsd::HandshakeFamily> family = tlsd::HandshakeFamily::open();
	Result<void> result = family ? Result<void>() : family.error();
	if (result && argc > 1) {
		result = family->join();
		if (result)
			std::fprintf(stderr, "listens\n");
		while (result)
			::pause();
	} else if (result) {
		WrongQueue queue(*family);
		result = tlsd::serve(*family, queue, true);
	}
	if (result)
		return 0;
	std::fprintf(stderr, "%s\n", result.error().message.c_str());
	return 1;
}
